# SPDX-License-Identifier: MIT
"""Lightning: an autoencoder with a validation loop and a schedule."""
import logging
import sys
import warnings

import lightning
import torch

EPOCHS, BATCHES = 3, 20


class Auto(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Sequential(torch.nn.Linear(256, 128), torch.nn.ReLU(),
                                           torch.nn.Linear(128, 16))
        self.decoder = torch.nn.Sequential(torch.nn.Linear(16, 128), torch.nn.ReLU(),
                                           torch.nn.Linear(128, 256))

    def loss(self, batch):
        return torch.nn.functional.mse_loss(self.decoder(self.encoder(batch[0])), batch[0])

    def training_step(self, batch, _):
        return self.loss(batch)

    def validation_step(self, batch, _):
        self.log("valid", self.loss(batch))

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


def main(device):
    warnings.simplefilter("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    lightning.seed_everything(5, verbose=False)
    data = torch.utils.data.TensorDataset(torch.randn(BATCHES * 32, 256))
    trainer = lightning.Trainer(
        max_epochs=EPOCHS, accelerator="cpu" if device == "cpu" else "gpu", devices=1,
        logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False)
    trainer.fit(Auto(), torch.utils.data.DataLoader(data, 32),
                torch.utils.data.DataLoader(data, 64))
    print("trained", trainer.global_step)
    print("steps", EPOCHS * BATCHES)


main(sys.argv[1] if len(sys.argv) > 1 else "cuda")
